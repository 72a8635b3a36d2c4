import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { lockFile } from '../../config/edit/lock-file.ts';
import { replaceFile } from '../../config/edit/write-temporary.ts';
import { userConfigFile } from '../../config/paths.ts';
import { readBytes } from './read-bytes.ts';

/** Links that are remembered, at most. */
const MOST = 1000;

const schema = v.pipe(v.string(), v.parseJson(), v.strictObject({ format: v.literal(1), links: v.array(v.string()) }));

/** Remembers the text of a link as written by this user: another person's repository may bring one along. */
export async function rememberLink(text: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const file = fileOf(environment);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await using _locked = await lockFile(file);
  const links = [...new Set([...(await readLinks(file)), digestOf(text)])].slice(-MOST);
  await replaceFile(file, `${JSON.stringify({ format: 1, links })}\n`, { mode: 0o600 });
}

/** Reports whether this user has written the link on this machine. It may be in a copy of the repository, or moved. */
export async function isOwnLink(text: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  return (await readLinks(fileOf(environment))).includes(digestOf(text));
}

/** A damaged file knows no link. */
async function readLinks(file: string): Promise<string[]> {
  const text = await readBytes(file, (message) => new Error(message)).catch(() => null);
  const parsed = v.safeParse(schema, text ?? '');
  return parsed.success ? parsed.output.links : [];
}

function fileOf(environment: NodeJS.ProcessEnv): string {
  return join(dirname(userConfigFile(environment)), 'links.json');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
