import showApi from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';

/** Built into the page, so that an installation of the console brings no Swagger along, whose package reports installations. */
const { up = './' } = document.documentElement.dataset;
showApi({ url: `${up}openapi.json`, dom_id: '#api', deepLinking: true });
