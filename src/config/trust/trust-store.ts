import { mkdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { lockFile } from '../edit/lock-file.ts';
import { writeBeside } from '../edit/write-beside.ts';
import { userConfigFile } from '../paths.ts';
import { isTree, type Tree } from '../tree.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import { asksForNothing, type TrustRequest, trustRequestOf } from './trust-request.ts';

/** Trusted contents per file: projects switch between branches. */
const MOST_DIGESTS = 20;

/** The answers: absolute paths with their trusted digests, newest last. */
function trustFile(environment: NodeJS.ProcessEnv): string {
  return join(dirname(userConfigFile(environment)), 'trusted.json');
}

export async function isTrusted({ file, digest }: TrustRequest, environment: NodeJS.ProcessEnv): Promise<boolean> {
  return digestsOf(await readAnswers(environment), file).includes(digest);
}

export async function rememberTrust({ file, digest }: TrustRequest, environment: NodeJS.ProcessEnv): Promise<void> {
  const path = trustFile(environment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await using _locked = await lockFile(path);
  const answers = await readAnswers(environment);
  const digests = digestsOf(answers, file).filter((known) => known !== digest);
  answers[file] = [...digests, digest].slice(-MOST_DIGESTS);
  const unfinished = await writeBeside(path, `${JSON.stringify(answers, null, 2)}\n`, { mode: 0o600 });
  try {
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

export interface OwnEdit {
  file: string;
  before: string;
  after: string;
}

/** An edit by the program keeps a trusted file trusted, and an untrusted one untrusted. */
export async function renewTrust({ file, before, after }: OwnEdit, environment: NodeJS.ProcessEnv): Promise<void> {
  const [old, now] = [await requestOf(file, before, environment), await requestOf(file, after, environment)];
  if (old.digest !== now.digest && (await isTrusted(old, environment))) await rememberTrust(now, environment);
}

/** Trusts a file that the program wrote. Only files of this name are ever asked about. */
export async function trustOwnFile(
  { file, text }: { file: string; text: string },
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const own = userConfigFile(environment);
  if (basename(file) !== basename(own) || file === (await realpath(own).catch(() => own))) return;
  const request = await requestOf(file, text, environment);
  if (!asksForNothing(request)) await rememberTrust(request, environment);
}

function requestOf(path: string, text: string, environment: NodeJS.ProcessEnv): Promise<TrustRequest> {
  return trustRequestOf({ path, source: parseYaml(text.replace(/^\uFEFF/, '')) }, environment);
}

async function readAnswers(environment: NodeJS.ProcessEnv): Promise<Tree> {
  const text = await readFile(trustFile(environment), 'utf8').catch(() => '{}');
  try {
    const answers: unknown = JSON.parse(text);
    return isTree(answers) ? { ...answers } : {};
  } catch {
    return {};
  }
}

function digestsOf(answers: Tree, file: string): unknown[] {
  const digests = Object.hasOwn(answers, file) ? answers[file] : [];
  return Array.isArray(digests) ? digests : [];
}
