import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { Document, isMap, Scalar, type YAMLMap } from 'yaml';
import type { Configuration } from '../../config/configuration.ts';
import { lockFile } from '../../config/edit/lock-file.ts';
import { isTree } from '../../config/tree.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import { resolveInFolder } from '../../runtime/contains-path.ts';
import { UserError } from '../../runtime/errors.ts';
import { openRegularFile } from '../../runtime/open-regular-file.ts';
import { createFile, ignoreMissing, ownershipOf, replaceFile } from '../../runtime/write-file.ts';
import { escaped, printableJson } from '../../text/printable.ts';
import { decodeText } from '../base64.ts';
import { chosenQuery } from '../query.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';

export const LEDGER_FILE = 'sanitize.lock.yml';

/** Bytes. */
const LARGEST_LEDGER = 16 * 1024 * 1024;
const LONGEST_REASON = 500;
/** Entries of all targets; 50,000 are read in a second or two. */
const MOST_ENTRIES = 100_000;
const OWN_FOLDER = 'Give a target a query file in a folder of its own: its ledger is beside it.';
const LIMIT = {
  lexemes: 20 * MOST_ENTRIES,
  message: `longer than ${MOST_ENTRIES} columns: what follows here was not read`,
  hint: OWN_FOLDER,
};

const text = v.pipe(v.string(), v.nonEmpty('must not be empty'), v.maxLength(LONGEST_REASON));
const reason = v.pipe(
  text,
  v.check((value) => value.trim() !== '', 'must not be empty'),
  v.check((value) => !/[\r\n]/.test(value), 'must be on one line'),
);
const values = v.exactOptional(v.array(v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String))));
const bare = v.picklist(['changed', 'empty', 'excluded', 'open']);

const entrySchema = v.union([
  v.pipe(
    bare,
    v.transform((state): LedgerEntry => ({ state })),
  ),
  v.pipe(
    v.strictObject({ kept: reason, values }),
    v.transform(({ kept, ...rest }): LedgerEntry => ({ state: 'kept', reason: kept, ...rest })),
  ),
  v.pipe(
    v.strictObject({ state: bare, values }),
    v.transform(({ state, ...rest }): LedgerEntry => ({ state, ...rest })),
  ),
]);

const EXPECTED = 'must be changed, empty, excluded, open, or { kept: reason }';

export interface LedgerPlace {
  configuration: Configuration;
  target: string;
}

/** Returns the path beside the query file, or beside the configuration where the query is in it. `null`: there is no folder. */
export function ledgerPath({ configuration, target }: LedgerPlace): string | null {
  const file = chosenQuery(configuration, target)?.file ?? configuration.file;
  return file === null ? null : join(dirname(file), LEDGER_FILE);
}

/** Reads the entries of a target; `null` where the file does not exist. Throws `ledger_unreadable`. */
export async function readLedger(place: LedgerPlace): Promise<Ledger | null> {
  const path = ledgerPath(place);
  const content = path === null ? null : await readLedgerText(path);
  return path === null || content === null ? null : (parseLedger(content, path).get(place.target) ?? new Map());
}

/** The ledgers of all targets that share the file. */
export function parseLedger(content: string, path: string): Map<string, Ledger> {
  const { tree, flaws, locate } = parseYaml(content, LIMIT);
  const [flaw] = flaws;
  if (flaw) throw unreadable(`${path}:${flaw.line}:${flaw.column}`, flaw.message, flaw.hint ?? undefined);
  const invalid = (keys: string[], why: string): UserError => {
    const { line, column } = locate(keys, 'key');
    return unreadable(`${path}:${line}:${column}`, why);
  };
  const { version, targets, ...others } = tree;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid([other], 'unknown key');
  if (version !== 1) throw invalid(['version'], 'version must be 1');
  if (!isTree(targets ?? {})) throw invalid(['targets'], 'targets must be a map');
  const ledgers = new Map<string, Ledger>();
  for (const [target, entries] of Object.entries(isTree(targets) ? targets : {})) {
    if (!isTree(entries)) throw invalid(['targets', target], 'must be a map of columns');
    const ledger: Ledger = new Map();
    for (const [name, value] of Object.entries(entries)) {
      const parsed = v.safeParse(entrySchema, value, { abortEarly: true });
      if (!parsed.success) throw invalid(['targets', target, name], EXPECTED);
      ledger.set(name, parsed.output);
    }
    ledgers.set(target, ledger);
  }
  return ledgers;
}

/** Changes the entries of a target under a lock: sorted, one line each; other targets of the file stay. */
export async function updateLedger(place: LedgerPlace, change: (before: Ledger) => Ledger): Promise<string> {
  const path = ledgerPath(place);
  if (path === null) {
    throw new UserError('file_not_written', `Target "${place.target}" has no configuration file and no query file`, {
      hint: `Set targets.${place.target}.sanitize.query_file: the ledger is beside it.`,
    });
  }
  try {
    await using _locked = await lockFile(path);
    const before = await readLedgerText(path);
    const ledgers = before === null ? new Map<string, Ledger>() : parseLedger(before, path);
    ledgers.set(place.target, change(ledgers.get(place.target) ?? new Map()));
    assertReadable(ledgers, path);
    const after = ledgerText(ledgers);
    if (before === null) await createFile(path, after, { mode: 0o666 });
    else if (after !== before) await replaceFile(await resolveInFolder(path), after, await ownershipOf(path, 0o666));
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError('file_not_written', `Cannot write ${path}: ${(cause as Error).message}`, {
      hint: 'Nothing was changed. Run it again.',
      cause,
    });
  }
  return path;
}

/** Refuses to write what could not be read again. */
function assertReadable(ledgers: Map<string, Ledger>, path: string): void {
  const entries = [...ledgers.values()].reduce((sum, { size }) => sum + size, 0);
  if (entries <= MOST_ENTRIES) return;
  const message = `${path} would have ${entries} columns, more than ${MOST_ENTRIES}`;
  throw new UserError('file_not_written', message, { hint: OWN_FOLDER });
}

const HEADING =
  ' What the sanitized snapshot does with each column: tool sanitize classify TARGET. docs/tasks/classify-every-column.md';

export function ledgerText(ledgers: Map<string, Ledger>): string {
  const targets = sorted(ledgers).map(
    ([target, ledger]) =>
      [textNode(target), new Map(sorted(ledger).map(([name, entry]) => [textNode(name), shownEntry(entry)]))] as const,
  );
  const document = new Document({ version: 1, targets: new Map(targets) }, { version: '1.2' });
  document.commentBefore = HEADING;
  for (const item of flowMaps(document)) item.flow = true;
  const lines = document.toString({ lineWidth: 0, flowCollectionPadding: true }).split('\n');
  return lines.map(printableJson).join('\n');
}

/** Quotes text that steers a terminal or reorders a line, which is escaped behind this: a reviewer sees it. */
function textNode(value: string): unknown {
  if (escaped(value) === value) return value;
  return Object.assign(new Scalar(value), { type: Scalar.QUOTE_DOUBLE });
}

function flowMaps(document: Document): YAMLMap[] {
  const targets = document.get('targets');
  const maps = isMap(targets) ? targets.items.map(({ value }) => value) : [];
  return maps.flatMap((map) => (isMap(map) ? map.items.map(({ value }) => value) : [])).filter((value) => isMap(value));
}

function shownEntry({ state, reason: why, values: listed }: LedgerEntry): unknown {
  const ofValues = listed && { values: listed.map(textNode) };
  if (state === 'kept') return { kept: textNode(why ?? ''), ...ofValues };
  return ofValues ? { state, ...ofValues } : state;
}

function sorted<Value>(entries: Map<string, Value>): [string, Value][] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

async function readLedgerText(path: string): Promise<string | null> {
  try {
    if (!(await lstat(path).catch(ignoreMissing))) return null;
    await using handle = await openRegularFile(await resolveInFolder(path));
    if ((await handle.stat()).size > LARGEST_LEDGER) throw new Error('it is larger than 16 MB');
    const content = decodeText(await handle.readFile());
    if (content === null) throw new Error('it is not UTF-8');
    return content;
  } catch (cause) {
    throw unreadable(path, (cause as Error).message);
  }
}

const FIX = 'Fix the ledger: without it no column is classified, and nothing is published.';

function unreadable(where: string, why: string, hint = FIX): UserError {
  return new UserError('ledger_unreadable', `${where}: ${why}`, { hint });
}
