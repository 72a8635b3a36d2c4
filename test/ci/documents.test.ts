import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf, isShell } from '../helpers/documented-commands.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}/${file}`);
/** Pages of which a person has written each word. */
const isWritten = (page: string): boolean => !/\/(?:commands|configuration|screens|proof)\.md$/.test(page);
const PAGES = ['README.md', ...filesIn('docs', /\.md$/)];

/** The test that runs the commands of a page. */
const RUN_BY: Record<string, string> = {
  'README.md': 'test/e2e/task-pages.test.ts',
  'docs/sanitize.md': 'test/e2e/task-pages.test.ts',
  'docs/storage.md': 'test/e2e/task-pages.test.ts',
  'docs/cloud.md': 'test/e2e/hub-documentation.test.ts',
  'docs/hub.md': 'test/e2e/hub-documentation.test.ts',
};

/** Pages whose commands no test runs as they are printed, with the reason. */
const NOT_RUN: Record<string, string> = {
  'docs/commands.md': 'generated examples of every command; test/cli/program.test.ts parses each',
  'docs/install.md': 'installs packages on the machine; test/ci/package.full.test.ts installs each in a folder',
};

test('the commands of every page are run by a test, or the reason why not is known', async () => {
  const lacking: string[] = [];
  for (const page of PAGES) {
    if (!(await blocksOf(page)).some(isShell)) continue;
    const runner = page.startsWith('docs/tasks/') ? 'test/e2e/task-pages.test.ts' : RUN_BY[page];
    const name = page.replace(/^docs\/tasks\//, '').replace(/\.md$/, '');
    const isRun = runner !== undefined && read(runner).includes(`'${page.includes('tasks/') ? name : page}`);
    if (!isRun && !(page in NOT_RUN)) lacking.push(page);
  }
  expect(lacking).toEqual([]);
  expect(Object.keys({ ...RUN_BY, ...NOT_RUN }).filter((page) => !PAGES.includes(page))).toEqual([]);
});

/** Names of servers, extensions and examples. */
const OF_OTHERS = new Set([
  ...['mysql_native_password', 'file_fdw', 'pg_repack', 'pg_extension_config_dump', 'rgw_sts_key'],
  'shop_dev_login_form',
]);

test('every code and key that a page names is in the sources', () => {
  const sources = [
    ...['src', 'hub', 'screens', 'components', '.ci', 'deploy'].flatMap((folder) =>
      filesIn(folder, /\.(ts|tsx|mjs|json|ya?ml|sh|env)$/),
    ),
    'action.yml',
    'package.json',
  ];
  const known = new Set(sources.flatMap((file) => read(file).match(/[a-z0-9]+(?:_[a-z0-9]+)+/g) ?? []));
  const named = PAGES.filter((page) => page !== 'docs/proof.md').flatMap((page) =>
    Array.from(read(page).matchAll(/`([a-z]+(?:_[a-z]+)+)`/g), ([, code = '']) => ({ page, code })),
  );
  expect(named.length).toBeGreaterThan(300);
  expect(named.filter(({ code }) => !known.has(code) && !OF_OTHERS.has(code))).toEqual([]);
});

test('no two paragraphs of a page begin with the same eight words', () => {
  const twice = PAGES.filter(isWritten).flatMap((page) => {
    const text = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
    const beginnings = text
      .split(/\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
      .map((paragraph) => paragraph.trim().split(/\s+/).slice(0, 8))
      .filter((words) => words.length === 8 && words[0] !== '|')
      .map((words) => words.join(' '));
    return beginnings.filter((words, at) => beginnings.indexOf(words) < at).map((words) => `${page}: ${words}`);
  });
  expect(twice).toEqual([]);
});
