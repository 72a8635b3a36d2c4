/**
 * Sets up what npm scripts need: runs before them (`prestart`, `pretest`, …) on whatever Node the machine has, so it
 * is written for Node 18. The scripts themselves then run on the current Node that the package `node` brings.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installSystemPackages } from './system-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

if (!packagesAreInstalled()) installPackages();
if (process.argv.includes('--system')) installSystemPackages({ forTests: process.argv.includes('--tests') });

/** Compares what npm wrote down after the last installation with the lock file. */
function packagesAreInstalled() {
  const modules = join(root, 'node_modules');
  if (!existsSync(modules)) return false;
  // A linked node_modules belongs to another folder: not ours to replace.
  if (lstatSync(modules).isSymbolicLink()) return true;
  const record = join(modules, '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = readPackages(record);
  return Object.entries(readPackages(join(root, 'package-lock.json'))).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    return found ? found.version === wanted.version : wanted.optional || wanted.devOptional || wanted.peer;
  });
}

function readPackages(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

function installPackages() {
  const started = Date.now();
  console.log('Installing the packages of package-lock.json from the npm registry');
  // npm names itself to its scripts; its warnings (this Node is old for some packages) matter only when it fails.
  // Not `npm ci`: it refuses a lock file made where the registry does not offer the packages of other platforms.
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const { status, error, stdout, stderr } = spawnSync(
    npm[0],
    [...npm.slice(1), 'install', '--no-save', '--include=dev'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status !== 0) {
    console.error(`${stdout ?? ''}${stderr ?? ''}\nnpm install failed${error ? `: ${error.message}` : ''}`);
    process.exit(1);
  }
  console.log(`Installed in ${Math.round((Date.now() - started) / 1000)} s`);
}
