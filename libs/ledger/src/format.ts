export { checkFormat, FIRST_FORMAT, FORMAT, FormatError, isReadable, REVISIONS_FORMAT } from './base/format.js';
export { formatOf, inFormat } from './catalog/definition.js';
