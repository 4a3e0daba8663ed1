/* The package has no types of its own. */

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  const show: (options: { readonly url: string; readonly dom_id: string; readonly deepLinking: boolean }) => void;
  export default show;
}

declare module 'swagger-ui-dist/swagger-ui.css';
