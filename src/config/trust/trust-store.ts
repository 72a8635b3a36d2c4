import { mkdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { type Effect, effect } from '../../results/configuration/effects.ts';
import { writePrivateFile } from '../../runtime/write-file.ts';
import { lockFile } from '../edit/lock-file.ts';
import { userConfigFile } from '../paths.ts';
import { isTree, type Tree } from '../tree.ts';
import { parseYaml } from '../yaml/yaml-source.ts';
import type { CoveredFile } from './covered-files.ts';
import { storedEffect } from './stored-effect.ts';
import { type TrustRequest, trustRequestOf } from './trust-request.ts';

/** Trusted contents per file: projects switch between branches. */
const MOST_DIGESTS = 20;

const answerSchema = v.object({
  /** Newest last. */
  digests: v.array(v.string()),
  /** Effects of the last answer. */
  effects: v.array(effect),
});

type Answer = v.InferOutput<typeof answerSchema>;
type TrustDigest = Omit<TrustRequest, 'answered'>;

/** The answers by absolute path of the file. */
function trustFile(environment: NodeJS.ProcessEnv): string {
  return join(dirname(userConfigFile(environment)), 'trusted.json');
}

export async function isTrusted({ file, digest }: TrustDigest, environment: NodeJS.ProcessEnv): Promise<boolean> {
  return answerOf(await readAnswers(environment), file)?.digests.includes(digest) ?? false;
}

/** The effects that the user agreed to last; `null` without an answer. */
export async function answeredEffects(file: string, environment: NodeJS.ProcessEnv): Promise<Effect[] | null> {
  return answerOf(await readAnswers(environment), file)?.effects ?? null;
}

export async function rememberTrust(
  { file, digest, effects }: TrustDigest,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const path = trustFile(environment);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await using _locked = await lockFile(path);
  const answers = await readAnswers(environment);
  const digests = (answerOf(answers, file)?.digests ?? []).filter((known) => known !== digest);
  const answer: Answer = { digests: [...digests, digest].slice(-MOST_DIGESTS), effects: effects.map(storedEffect) };
  answers[file] = answer;
  await writePrivateFile(path, `${JSON.stringify(answers, null, 2)}\n`);
}

/** An edit by the program keeps a trusted file trusted, and an untrusted one untrusted. */
export async function renewTrust(
  { file, before, after }: { file: string; before: string; after: string },
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const [old, now] = [await requestOf(file, before, environment), await requestOf(file, after, environment)];
  if (old.digest !== now.digest && (await isTrusted(old, environment))) await rememberTrust(now, environment);
}

/** Writes a file that a configuration names, and keeps the configuration trusted if it was. */
export async function saveTrust(
  { file, environment }: { file: string | null; environment: NodeJS.ProcessEnv },
  write: () => Promise<void>,
): Promise<void> {
  const request = async () => {
    const text = file === null ? null : await readFile(file, 'utf8').catch(() => null);
    return file === null || text === null ? null : requestOf(file, text, environment);
  };
  const before = await request();
  const wasTrusted = before !== null && (await isTrusted(before, environment));
  await write();
  const after = wasTrusted ? await request() : null;
  if (after && after.digest !== before?.digest) await rememberTrust(after, environment);
}

/** The covered files as they are now; none when the configuration is not trusted with them. */
export async function trustedFiles(file: string, environment: NodeJS.ProcessEnv): Promise<CoveredFile[]> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return [];
  const request = await requestOf(file, text, environment);
  return (await isTrusted(request, environment)) ? request.files : [];
}

/** Trusts a file that the program wrote. Only files of this name are ever asked about. */
export async function trustOwnFile(
  { file, text }: { file: string; text: string },
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const own = userConfigFile(environment);
  if (basename(file) !== basename(own) || file === (await realpath(own).catch(() => own))) return;
  const request = await requestOf(file, text, environment);
  if (request.effects.length > 0) await rememberTrust(request, environment);
}

function requestOf(path: string, text: string, environment: NodeJS.ProcessEnv): Promise<TrustDigest> {
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

/** `null` without an answer, and for one of an earlier version, which covered less. */
function answerOf(answers: Tree, file: string): Answer | null {
  if (!Object.hasOwn(answers, file)) return null;
  const parsed = v.safeParse(answerSchema, answers[file]);
  return parsed.success ? parsed.output : null;
}
