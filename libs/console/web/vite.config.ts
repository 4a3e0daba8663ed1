import { fileURLToPath } from 'node:url';
import { preact } from '@preact/preset-vite';
import { defaultClientConditions, defineConfig } from 'vite';

/** Everything is a file of its own under a hashed name: the page is served under `default-src 'self'`. */
export default defineConfig({
  base: './',
  // The client as it is written, so that the page is built from what is there now.
  resolve: { conditions: ['@fencepost/source', ...defaultClientConditions] },
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false })],
  build: {
    target: 'es2022',
    // As old as `light-dark()`: with older ones in the list each colour would be written out twice.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    rollupOptions: { input: ['index.html', 'docs.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))) },
    assetsInlineLimit: 0,
    // Swagger UI, which is loaded by the API's page alone.
    chunkSizeWarningLimit: 1_500,
    modulePreload: { polyfill: false },
  },
});
