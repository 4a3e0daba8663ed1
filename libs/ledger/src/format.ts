export { checkFormat, FIRST_FORMAT, FORMAT, FormatError, isReadable } from './base/format.js';
export { formatOf, inFormat } from './catalog/definition.js';
