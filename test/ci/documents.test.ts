import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blocksOf, isShell } from '../helpers/documents/documented-commands.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file))
    .map((file) => `${folder}/${file}`);
/** Pages of which a person has written each word. */
const isWritten = (page: string): boolean => !/\/(?:commands|configuration|screens|proof|benchmarks)\.md$/.test(page);
const PAGES = ['README.md', ...filesIn('docs', /\.md$/)];

/** The test that runs the commands of a page. */
const RUN_BY: Record<string, string> = {
  'README.md': 'test/e2e/task-pages.test.ts',
  'docs/sanitize.md': 'test/e2e/task-pages.test.ts',
  'docs/storage.md': 'test/e2e/task-pages.test.ts',
  'docs/cloud.md': 'test/e2e/hub-documentation.test.ts',
  'docs/hub.md': 'test/e2e/hub-documentation.test.ts',
  'docs/builds-and-loads.md': 'test/e2e/opening-examples.test.ts',
  'docs/postgres.md': 'test/e2e/opening-examples.test.ts',
  'docs/mysql.md': 'test/e2e/opening-examples.test.ts',
  'docs/guard.md': 'test/e2e/opening-examples.test.ts',
  'docs/images.md': 'test/e2e/opening-examples.test.ts',
  'docs/subset.md': 'test/e2e/opening-examples.test.ts',
  'docs/configuration.md': 'test/e2e/opening-examples.test.ts',
};

/** Pages whose commands no test runs as they are printed, with the reason. */
const NOT_RUN: Record<string, string> = {
  'docs/commands.md': 'generated examples of every command; test/cli/program.test.ts parses each',
  'docs/architecture.md': 'a check of npm test',
  'docs/development.md': 'sets up the machine and opens the screens; test/e2e/demo.test.ts opens them',
  'docs/errors.md': 'a command that fails; test/cli/run.test.ts prints such an error',
  'docs/benchmarks.md': 'takes most of an hour',
  'docs/proof.md': 'a round of the proof, as npm test makes some',
  'docs/screens.md': 'opens the screens; test/e2e/demo.test.ts does, too',
  'docs/sso.md': 'opens a browser; test/e2e/sign-in.test.ts signs in',
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
  ...['shop_dev_login_form', 'my_app', 'spatial_ref_sys', 'part_config'],
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
  // Tools of agents: `plan_…` returns the plan of a tool.
  const tools = Array.from(read('src/mcp/tools.ts').matchAll(/name: '(\w+)'/g), ([, name = '']) => `plan_${name}`);
  const isKnown = (code: string): boolean =>
    known.has(code) || known.has(code.replace(/^plan_/, '')) || tools.includes(code);
  expect(named.filter(({ code }) => !isKnown(code) && !OF_OTHERS.has(code))).toEqual([]);
});

test('the manual of the README has every page once', () => {
  const manual = read('README.md').split('## The manual')[1] ?? '';
  const listed = Array.from(manual.matchAll(/\]\((docs\/[\w/-]+\.md)\)/g), ([, page = '']) => page);
  expect(listed.sort()).toEqual(PAGES.filter((page) => page !== 'README.md').sort());
});

test('the manual leads from what the program is to how it is built', () => {
  const manual = read('README.md').split('## The manual')[1] ?? '';
  const chapters = Array.from(manual.matchAll(/^- \*\*(.+?)\*\*/gm), ([, chapter]) => chapter);
  const order = ['What it is', 'First minute', 'Daily round', 'Teams', 'Safety', 'Reference', 'How it is built'];
  expect(chapters).toEqual(order);
});

test('a page begins with a sentence about its use', () => {
  const abrupt = PAGES.filter((page) => {
    const [, first = ''] = read(page)
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .split(/\n\s*\n/);
    return !/^(?!```)[A-Z`][\s\S]*[.:]$/.test(first);
  });
  expect(abrupt).toEqual([]);
});

const WITHOUT_CODE = /^```[\s\S]*?^```/gm;

/** Paragraphs and items of lists, without tables and blocks of code. */
function paragraphsOf(page: string): string[] {
  return read(page)
    .replaceAll(WITHOUT_CODE, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|]|\d+\.) )/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => !paragraph.startsWith('|'));
}

/** Signs alone, such as the borders of a table, are no words. */
const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));

test('no two paragraphs of a page begin with the same eight words', () => {
  const twice = PAGES.filter(isWritten).flatMap((page) => {
    const beginnings = paragraphsOf(page)
      .map((paragraph) => paragraph.split(/\s+/).slice(0, 8))
      .filter((words) => words.length === 8)
      .map((words) => words.join(' '));
    return beginnings.filter((words, at) => beginnings.indexOf(words) < at).map((words) => `${page}: ${words}`);
  });
  expect(twice).toEqual([]);
});

test('keys of the configuration that a page names exist', () => {
  const described = read('docs/configuration.md');
  const named = PAGES.filter(isWritten).flatMap((page) =>
    [...read(page).matchAll(/`((?:defaults|branches|saves|override)\.[a-z_]+)[`.]/g)].map(([, key = '']) => ({
      page,
      key,
    })),
  );
  expect(named.length).toBeGreaterThan(5);
  // A key of DBSnapper.
  const foreign = ['override.nocloud'];
  const unknown = named.filter(({ key }) => {
    const [section = '', name = ''] = key.split('.');
    const [, table = ''] =
      new RegExp(`^#+ \`?${section}\`?\\n([\\s\\S]*?)(?=^#|(?![\\s\\S]))`, 'm').exec(described) ?? [];
    return !foreign.includes(key) && !table.includes(`\`${name}\``);
  });
  expect(unknown).toEqual([]);
});

test('a page opens with an example, before its first section', () => {
  const late = PAGES.map((page) => ({ page, before: read(page).split(/^```/m)[0] ?? '' })).filter(
    ({ before }) => /^## /m.test(before) || wordsOf(before).length > 80,
  );
  expect(late.map(({ page }) => page)).toEqual([]);
});

test('paragraphs and cells of tables have at most 80 words', () => {
  const long = PAGES.flatMap((page) => {
    const cells = read(page)
      .replaceAll(WITHOUT_CODE, '')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => line.split(/(?<!\\)\|/));
    return [...paragraphsOf(page), ...cells]
      .filter((text) => wordsOf(text).length > 80)
      .map((text) => `${page}: ${wordsOf(text).length} words: ${text.slice(0, 60)}`);
  });
  expect(long).toEqual([]);
});

test('the pages have at most 35,000 words together', () => {
  const sizes = PAGES.map((page) => ({ page, words: wordsOf(read(page)).length }));
  expect(sizes.reduce((total, { words }) => total + words, 0)).toBeLessThanOrEqual(35_000);
  expect(sizes.filter(({ words }) => words > 5000)).toEqual([]);
});

test('files of tests are named on the pages for maintainers only', () => {
  const named = PAGES.filter((page) => /\.test\.tsx?\b/.test(read(page)));
  expect(named.sort()).toEqual(['docs/architecture.md', 'docs/development.md', 'docs/security.md']);
});

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  const headings = read(page)
    .replaceAll(WITHOUT_CODE, '')
    .matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link to a section of a page matches a heading', () => {
  const readmes = ['src', 'screens', 'hub'].flatMap((folder) => filesIn(folder, /README\.md$/));
  const links = [...PAGES, ...readmes, 'CHANGELOG.md', 'SECURITY.md'].flatMap((page) =>
    Array.from(
      read(page)
        .replaceAll(WITHOUT_CODE, '')
        .matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g),
      ([link, path = '', anchor = '']) => ({
        ...{ page, link, anchor },
        to: path === '' ? page : normalize(join(dirname(page), path)),
      }),
    ),
  );
  expect(links.length).toBeGreaterThan(20);
  expect(
    links.filter(({ to, anchor }) => !anchorsOf(to).includes(anchor)).map(({ page, link }) => `${page}: ${link}`),
  ).toEqual([]);
});
