export { checkFormat, FIRST_FORMAT, FORMAT, FormatError, isReadable, QUIET_FORMAT, REVISIONS_FORMAT } from './base/format.js';
export { formatOf, inFormat } from './catalog/definition.js';
