import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPLETION_SCRIPTS } from '../../src/cli/completion/completion-scripts.ts';

/** Files of assets/ that the program reads; the others are of its tests and its documentation. */
export const ASSETS = [
  'assets/demo/sanitize.sql',
  'assets/demo/shop.sql',
  'assets/events.schema.json',
  'assets/openapi.json',
  'assets/tool.schema.json',
];

/** The manual page and the completions, at the places below `/usr` or `/usr/local` where shells look for them. */
export function sharedFiles(root) {
  return {
    'share/man/man1/tool.1': readFileSync(join(root, 'assets/tool.1')),
    'share/bash-completion/completions/tool': `${COMPLETION_SCRIPTS.bash}\n`,
    'share/zsh/site-functions/_tool': `${COMPLETION_SCRIPTS.zsh}\n`,
    'share/fish/vendor_completions.d/tool.fish': `${COMPLETION_SCRIPTS.fish}\n`,
  };
}

/** Licenses of what a package with Node in it contains. */
export function licenses(root, { version }) {
  const node = `node ${version} (MIT and others)\n\nhttps://github.com/nodejs/node/blob/${version}/LICENSE\n`;
  return `${node}\n${readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')}`;
}
