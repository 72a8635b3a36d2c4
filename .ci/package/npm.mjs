import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ASSETS } from './files.mjs';

const FILES = [...ASSETS, 'assets/tool.1', 'tool.example.yml', 'README.md', 'LICENSE'];

/** Writes `tool-VERSION.tgz`: the bundle, without the packages that are in it. */
export function makeNpmPackage({ root, manifest, packages }) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-npm-'));
  try {
    const bundle = globSync('dist/*.{js,txt}', { cwd: root });
    for (const file of [...bundle, ...FILES]) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
    // Programs read them: without indents they have two thirds of the bytes.
    for (const name of ['openapi.json', 'events.schema.json', 'tool.schema.json']) {
      const path = join(folder, 'assets', name);
      writeFileSync(path, JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))));
    }
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`);
    execFileSync('npm', ['pack', '--silent', '--pack-destination', packages], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The manifest without bundled packages and entries for developers. */
export function published({ name, version, description, license, type, bin, engines, optionalDependencies }) {
  return {
    ...{ name, version, description, license, type, bin },
    // As a list: npm links no other manual page.
    man: ['assets/tool.1'],
    // There is nothing to import: a schema and a version to read.
    exports: { './package.json': './package.json', './assets/*': './assets/*' },
    ...{ engines, optionalDependencies },
  };
}
