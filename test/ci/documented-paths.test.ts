import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob, normalize } from 'node:path';
import { expect, test } from 'vitest';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(file));
const folders = new Set(
  files.flatMap((file) => file.split('/').map((_, depth, parts) => parts.slice(0, depth).join('/'))),
);
const topFolders = new Set(files.filter((file) => file.includes('/')).map((file) => file.split('/')[0]));
const pages = files.filter(
  (file) => /^(README|docs\/.+)\.md$/.test(file) || /^(src|screens|\.ci)\/(.*\/)?README\.md$/.test(file),
);

const CODE_FILE = /\.(ts|tsx|mjs)$/;
const PATH = /^[\w.@*-]+(\/[\w.@*-]+)*\/?$/;

/** Inline code that looks like a path of the project; `NAME` in it stands for any name. Blocks of code are left out. */
function pathsIn(page: string): string[] {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const isReadme = page.endsWith('/README.md');
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, inner = '']) => inner);
  const paths = code.filter((path) => {
    if (!PATH.test(path)) return false;
    const inProject = path.includes('/') && topFolders.has(path.split('/')[0]);
    return inProject || CODE_FILE.test(path) || (isReadme && path.endsWith('/'));
  });
  const links = [...text.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)].map(([, path = '']) => path);
  return [...paths, ...links.filter((path) => !path.includes('://')).map((path) => `./${path}`)];
}

const known = new Set([...folders, ...files]);
const found = new Map<string, boolean>();

/** Remembered, since many pages name the same paths. */
function findGlob(glob: string): boolean {
  const before = found.get(glob);
  if (before !== undefined) return before;
  const end = glob.startsWith('**/') && !glob.slice(3).includes('*') ? glob.slice(2) : null;
  const isFound = [...known].some((path) => (end === null ? matchesGlob(path, glob) : `/${path}`.endsWith(end)));
  found.set(glob, isFound);
  return isFound;
}

function exists(path: string, page: string): boolean {
  const pattern = path.replaceAll(/\b[A-Z]{3,}\b/g, '*').replace(/\/$/, '');
  // A link is relative to its page; a path also to the root, to the tests, or is the end of one.
  const places = path.startsWith('./')
    ? [normalize(join(dirname(page), pattern))]
    : [pattern, join('test', pattern), join(dirname(page), pattern), join(dirname(page), '**', pattern)];
  if (!pattern.includes('/') && page.startsWith('docs/')) places.push(join('**', pattern));
  return places.some((place) => known.has(place) || (place.includes('*') && findGlob(place)));
}

test('every path of the project that the documentation names exists', () => {
  expect(pages).toContain('docs/architecture.md');
  expect(pages).toContain('src/engines/README.md');
  const paths = pages.flatMap((page) => pathsIn(page).map((path) => ({ page, path })));
  expect(paths.length).toBeGreaterThan(150);
  expect(paths.filter(({ page, path }) => !exists(path, page))).toEqual([]);
});

/** Folders and files at the beginning of a line, or after a line of boxes or a semicolon. */
function pathsInPicture(page: string): string[] {
  const [, picture = ''] = /^```text\n([\s\S]*?)^```/m.exec(readFileSync(page, 'utf8')) ?? [];
  return [...picture.matchAll(/(?<![\w/])[\w.-]+(?:\/[\w.-]+)*(?:\/|\.(?:js|tsx?|mjs))(?![\w/])/g)].map(
    ([path]) => path,
  );
}

test('every path in the picture of the floors exists', () => {
  const paths = pathsInPicture('docs/architecture.md');
  expect(paths).toEqual(expect.arrayContaining(['src/main.ts', 'launcher.js', 'facets/', 'src/runtime/', 'hub/']));
  const isThere = (path: string) => exists(path, 'docs/architecture.md') || findGlob(`**/${path.replace(/\/$/, '')}`);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

test('a path that does not exist is found, in code and in links', () => {
  expect(exists('src/engines/engine.ts', 'docs/architecture.md')).toBe(true);
  expect(exists('connection/session.ts', 'src/engines/postgres/README.md')).toBe(true);
  expect(exists('src/snapshots/signature.ts', 'docs/architecture.md')).toBe(false);
  expect(exists('shelf.ts', 'src/repository/README.md')).toBe(false);
  expect(exists('./guard.md', 'docs/postgres.md')).toBe(true);
  expect(exists('./house.md', 'docs/postgres.md')).toBe(false);
});
