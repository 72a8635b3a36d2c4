import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import * as v from 'valibot';
import { lockFile } from '../../config/edit/lock-file.ts';
import { userConfigFile } from '../../config/paths.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { createFile, replaceFile } from '../../runtime/write-file.ts';
import { isEnvironmentFile, isKeyOf, isYamlFile } from './names.ts';
import { readBytes } from './read-bytes.ts';
import { folderOfTree, readShort, type Tree } from './trees.ts';

/** In the git folder that all working trees share: a clone does not bring it, a commit does not change it. */
const FOLDER = 'tool';
/** In the git folder of one tree: the token of its record. It is gone with the tree, and moves with it. */
const TOKEN_FILE = 'tool-tree';
const TOKEN = /^[0-9a-f]{16}$/;

const MOST_BYTES = 256 * 1024;
/** Records that are read, at most. */
const MOST_TREES = 2000;

const short = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const file = v.pipe(
  v.string(),
  v.check((path) => isEnvironmentFile(path) || isYamlFile(path)),
);

const linkEntries = v.strictObject({
  format: v.literal(1),
  target: short,
  /** URL without password of the only destination whose branches the trees get. */
  destination: short,
  /** Top folder of the main tree, or in a bare repository that of the link; the file in it, and the key that has the URL of the application. */
  main: v.pipe(short, v.check(isAbsolute)),
  file,
  key: short,
  /** URL of the application in the main tree, without password. */
  url: short,
  /** The hook, and the lines of it that were replaced; `null` where none were. */
  hook: v.nullable(v.strictObject({ file: short, previous: v.nullable(v.pipe(v.string(), v.maxLength(20_000))) })),
});
const linkSchema = v.pipe(
  linkEntries,
  v.check(({ file, key }) => isKeyOf(file, key)),
);
export type Link = v.InferOutput<typeof linkSchema>;

const treeEntries = v.strictObject({
  format: v.literal(1),
  token: v.pipe(v.string(), v.regex(TOKEN)),
  /** The branch whose database the tree has. */
  branch: short,
  /** Folder of git for this tree, and its top folder when the record was written. */
  own: short,
  folder: short,
  file,
  /** Lines or values of the file before, by key, as bytes; `null` where the file did not exist. */
  before: v.nullable(v.record(short, v.nullable(v.pipe(v.string(), v.maxLength(20_000))))),
  /** The file had no line feed at its end. */
  unended: v.boolean(),
  /** Keys that were written, where there was no file. */
  keys: v.exactOptional(v.pipe(v.array(short), v.maxLength(20))),
  /** The user knows that the tree is gone. */
  mentioned: v.boolean(),
});
const treeSchema = v.pipe(
  treeEntries,
  v.check(({ file, before, keys = [] }) => [...Object.keys(before ?? {}), ...keys].every((key) => isKeyOf(file, key))),
);
export type TreeRecord = v.InferOutput<typeof treeSchema>;

export interface KnownTree extends TreeRecord {
  /** Its present folder; `null` where the tree is gone. */
  present: string | null;
}

/** `null` where the repository is not linked. Refuses a link that this user has not written on this machine. */
export async function readLink(
  { common }: Pick<Tree, 'common'>,
  { environment }: Pick<Context, 'environment'>,
): Promise<Link | null> {
  const link = await readRecord(linkFile(common), linkSchema);
  if (link && !(await isOwnLink(textOf(link), environment))) throw foreignLink(join(common, FOLDER));
  return link;
}

export async function writeLink(
  { common }: Pick<Tree, 'common'>,
  link: Link,
  { environment }: Pick<Context, 'environment'>,
): Promise<void> {
  await mkdir(join(common, FOLDER, 'trees'), { recursive: true, mode: 0o700 });
  const text = textOf(link);
  await rememberLink(text, environment);
  await createFile(linkFile(common), text, { mode: 0o600 });
}

function textOf(link: Link): string {
  return `${JSON.stringify(v.parse(linkSchema, link))}\n`;
}

export async function removeLink({ common }: Pick<Tree, 'common'>): Promise<void> {
  await rm(join(common, FOLDER), { recursive: true, force: true });
}

/** Reports whether a tree keeps its own URL: the main one, or in a bare repository the one that the link was made in. */
export function isFirstTree({ isMain, folder }: Tree, { main }: Link): boolean {
  return isMain || folder === main;
}

export function newToken(): string {
  return randomBytes(8).toString('hex');
}

export async function readTreeRecord(tree: Tree): Promise<TreeRecord | null> {
  const token = await readShort(join(tree.own, TOKEN_FILE), 32).catch(() => null);
  const found =
    token !== null && TOKEN.test(token) ? await readRecord(recordFile(tree.common, token), treeSchema) : null;
  return found && basename(found.own) === basename(tree.own) ? found : null;
}

/** The token comes before the record: no record is of a tree that seems to be gone. */
export async function writeTreeRecord(tree: Tree, record: TreeRecord): Promise<void> {
  const text = `${JSON.stringify(v.parse(treeSchema, record))}\n`;
  await replaceFile(join(tree.own, TOKEN_FILE), record.token, { mode: 0o600 });
  await replaceFile(recordFile(tree.common, record.token), text, { mode: 0o600 });
}

export async function removeTreeRecord({ common }: Pick<Tree, 'common'>, token: string): Promise<void> {
  await rm(recordFile(common, token), { force: true });
}

export async function forgetTree({ own }: Pick<TreeRecord, 'own'>): Promise<void> {
  await rm(join(own, TOKEN_FILE), { force: true });
}

/** All records of the repository, with the present folders of their trees. */
export async function listTrees({ common }: Pick<Tree, 'common'>): Promise<KnownTree[]> {
  const names = await readdir(join(common, FOLDER, 'trees')).catch(() => []);
  const tokens = names.filter((each) => TOKEN.test(each.replace(/\.json$/, ''))).slice(0, MOST_TREES);
  const found: KnownTree[] = [];
  for (const each of tokens) {
    const record = await readRecord(join(common, FOLDER, 'trees', each), treeSchema);
    if (!record) continue;
    // The repository may have been moved.
    const own = join(common, 'worktrees', basename(record.own));
    const token = await readShort(join(own, TOKEN_FILE), 32).catch(() => null);
    found.push({ ...record, own, present: token === record.token ? await folderOfTree(own) : null });
  }
  return found;
}

export async function markMentioned({ common }: Pick<Tree, 'common'>, { present: _, ...record }: KnownTree) {
  const text = `${JSON.stringify({ ...record, mentioned: true } satisfies TreeRecord)}\n`;
  await replaceFile(recordFile(common, record.token), text, { mode: 0o600 });
}

function linkFile(common: string): string {
  return join(common, FOLDER, 'link.json');
}

function recordFile(common: string, token: string): string {
  return join(common, FOLDER, 'trees', `${token}.json`);
}

async function readRecord<Schema extends v.GenericSchema>(
  path: string,
  schema: Schema,
): Promise<v.InferOutput<Schema> | null> {
  const text = await readShort(path, MOST_BYTES).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw damaged(path, error);
  });
  if (text === null) return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (!parsed.success) throw damaged(path);
  return parsed.output as v.InferOutput<Schema>;
}

function foreignLink(folder: string): UserError {
  return new UserError('link_foreign', `The link in ${folder} was not written by this user on this machine`, {
    hint: 'If the repository is yours, remove this folder, then run: tool link TARGET',
  });
}

function damaged(path: string, cause?: unknown): UserError {
  return new UserError('link_damaged', `${path} is not as tool link wrote it`, {
    hint: 'Remove the folder of this file, then run: tool link TARGET',
    cause,
  });
}

/** Links that are remembered, at most. */
const MOST = 1000;

const schema = v.pipe(v.string(), v.parseJson(), v.strictObject({ format: v.literal(1), links: v.array(v.string()) }));

/** Remembers the text of a link as written by this user: another person's repository may bring one along. */
async function rememberLink(text: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const file = fileOf(environment);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await using _locked = await lockFile(file);
  const links = [...new Set([...(await readLinks(file)), digestOf(text)])].slice(-MOST);
  await replaceFile(file, `${JSON.stringify({ format: 1, links })}\n`, { mode: 0o600 });
}

/** Reports whether this user has written the link on this machine. It may be in a copy of the repository, or moved. */
async function isOwnLink(text: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
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
