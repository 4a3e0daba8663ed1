import { render } from 'preact';
import { App } from './app.js';
import { followSession } from './data/session.js';
import { applyTheme } from './ui/theme.js';

applyTheme();
followSession();
const place = document.getElementById('app');
if (place) render(<App />, place);
