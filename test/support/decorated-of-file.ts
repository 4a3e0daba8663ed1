import { markFound, notFound } from '../../libs/jobs/src/nest/decorated-methods.js';

/** Many spec files run in one process: what the files before this one have decorated is no part of its programs. */
for (const decorated of notFound()) markFound(decorated);
