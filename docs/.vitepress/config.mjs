import { readdirSync } from 'node:fs';

/** As GitHub makes anchors, so that a link works in both places. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const page = (text, link) => ({ text, link });

const api = () =>
  readdirSync(new URL('../api', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => file.replace(/\.md$/, ''))
    .map((name) => page(`@fencepost/${name}`, `/api/${name}`))
    .toSorted((a, b) => a.text.localeCompare(b.text));

export default {
  title: 'Fencepost',
  description: 'Singleton cron for replicated NestJS services, with a fence that reaches the side effect',
  lang: 'en',
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  markdown: { anchor: { slugify } },
  vite: { build: { chunkSizeWarningLimit: 5_000 }, logLevel: 'warn' },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: 'https://github.com/fencepost/fencepost' }],
    nav: [
      page('Guide', '/getting-started'),
      { ...page('Reference', '/reference/'), activeMatch: '^/reference/' },
      { ...page('API', '/api/'), activeMatch: '^/api/' },
    ],
    sidebar: {
      '/api/': [{ text: 'API reference', items: [page('All packages', '/api/'), ...api()] }],
      '/': [
        {
          text: 'Guide',
          items: [
            page('Getting started', '/getting-started'),
            page('Concepts', '/concepts'),
            page('Good fit, or not', '/good-fit'),
            page('Features', '/features'),
            page('Choosing', '/choosing'),
            page('Effects cookbook', '/effects-cookbook'),
            page('Testing', '/testing-your-jobs'),
            page('Deploying', '/deploying'),
            page('Operating', '/operating'),
            page('Migrating', '/migrating/'),
          ],
        },
        {
          text: 'Reference',
          items: [
            page('Overview', '/reference/'),
            page('Crons and jobs', '/reference/crons-and-jobs'),
            page('Effects', '/reference/effects'),
            page('Module and pods', '/reference/module-and-pods'),
            page('Lease stores', '/stores'),
            page('How far it scales', '/scale'),
            page('Command line', '/packages/cli'),
            page('Metrics and alerts', '/metrics'),
            page('Problems', '/problems'),
            page('Limits', '/limits'),
            page('API reference', '/api/'),
            page('Glossary', '/glossary'),
          ],
        },
        {
          text: 'Trust',
          items: [
            page('Guarantees', '/guarantees'),
            page('Fail points', '/effects-fail-points'),
            page('Comparison', '/comparison'),
            page('Peers under torture', '/peers-under-torture'),
            page('Decisions', '/adr/'),
            page('Upgrades and support', '/support'),
            page('Changelog', '/changelog'),
          ],
        },
        {
          text: 'Packages',
          items: ['jobs', 'lease', 'schedule', 'ledger', 'operations', 'console', 'testing', 'scheduler'].map((name) =>
            page(name, `/packages/${name}`),
          ),
        },
      ],
    },
  },
};
