import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpFile } from '../../../facets/dump-file.ts';
import {
  assertComplete,
  type DumpText,
  dumpUnreadable,
  firstBytes,
  headOf,
  readDumpText,
} from '../../../shared/script/dump-text.ts';
import { anyClientTools } from '../../connection/tools.ts';
import { CONTENTS, filesOfContents, readArchiveHead } from '../../dump/archive-contents.ts';
import { failureWords } from '../restore-errors.ts';

const TAR_BLOCK = 512;
const ARCHIVE = Buffer.from('PGDMP');
const HEAD_BYTES = 4096;

const SCRIPT = /^--\r?\n-- PostgreSQL database dump\r?$/m;
const SERVER_VERSION = /^-- Dumped from database version (\S+)/m;
const LAST_LINE = /^-- PostgreSQL database dump complete\r?$/m;

/** Recognises a dump by pg_dump; `null` for another file. */
export async function readDump(path: string): Promise<DumpFile | null> {
  const product = 'PostgreSQL';
  if ((await stat(path)).isDirectory()) {
    const file = join(path, CONTENTS);
    // Opening a FIFO would wait for its writer.
    if (!(await stat(file).catch(() => null))?.isFile()) return null;
    const toc = await firstBytes(file, HEAD_BYTES).catch(() => null);
    return toc && isArchive(toc) ? { path, product, format: 'directory', server_version: versionOf(toc) } : null;
  }
  const first = await firstBytes(path, TAR_BLOCK + HEAD_BYTES);
  if (isArchive(first)) return { path, product, format: 'custom', server_version: versionOf(first) };
  const toc = first.subarray(TAR_BLOCK);
  if (first.toString('latin1', 0, CONTENTS.length + 1) === `${CONTENTS}\0` && isArchive(toc)) {
    return { path, product, format: 'tar', server_version: versionOf(toc) };
  }
  const head = await headOf(readDumpText(path));
  if (!SCRIPT.test(head)) return null;
  return { path, product, format: 'sql', server_version: SERVER_VERSION.exec(head)?.[1] ?? null };
}

function isArchive(bytes: Buffer): boolean {
  return bytes.subarray(0, ARCHIVE.length).equals(ARCHIVE);
}

function versionOf(toc: Buffer): string | null {
  const version = readArchiveHead(toc)?.serverVersion ?? '';
  return /^\d+(?:\.\d+)*/.exec(version)?.[0] ?? null;
}

/** The SQL of a dump, of an archive by pg_restore. Throws at its end where it is cut short. */
export async function* textOfDump(context: EngineContext, { path, format }: DumpFile): AsyncGenerator<Uint8Array> {
  if (format === 'directory') await assertOwnFiles(path);
  const text = format === 'sql' ? readDumpText(path) : archiveText(context, path);
  yield* assertComplete(text, { path, lastLine: LAST_LINE });
}

async function* archiveText(context: EngineContext, path: string): DumpText & AsyncGenerator<Uint8Array> {
  const { pg_restore } = await anyClientTools(context);
  const restoring = context.runner.start(
    { file: pg_restore, args: ['--file=-', '--create', path], env: { LC_ALL: 'C' }, mounts: [{ path }] },
    { signal: context.signal },
  );
  try {
    yield* restoring.stdout;
    const ended = await restoring.ended;
    if (ended.exitCode === 0) return;
    const details = failureWords('pg_restore', ended);
    throw dumpUnreadable(path, 'pg_restore reports an error', { details });
  } finally {
    restoring.kill();
    await restoring.ended.catch(() => {});
  }
}

const OWN_FILE = /^(?:\d+\.dat|blob_\d+\.dat|blobs(?:_\d+)?\.toc)$/;
/** pg_restore reads a compressed list of large objects too, but pg_dump writes none. */
const COMPRESSED = /(?<=\.dat)\.(?:gz|lz4|zst)$/;
const LARGE_OBJECT = /^\d+ blob_\d+\.dat$/;

/** pg_restore opens what the archive names, also `../../secret`, and follows links. */
async function assertOwnFiles(path: string): Promise<void> {
  const names = filesOfContents(await readFile(join(path, CONTENTS)));
  if (!names) throw dumpUnreadable(path, 'the format of its contents is unknown', { details: [FORMATS] });
  const files = await readdir(path, { withFileTypes: true });
  const strange = [
    ...names.filter((name) => !OWN_FILE.test(name)),
    ...files.filter((file) => !file.isFile() || !isKnown(file.name)).map(({ name }) => name),
  ];
  for (const { name } of files.filter(({ name }) => name.endsWith('.toc'))) {
    const lines = (await readFile(join(path, name), 'latin1')).split('\n').filter((line) => line !== '');
    strange.push(...lines.filter((line) => !LARGE_OBJECT.test(line)));
  }
  if (strange.length === 0) return;
  throw dumpUnreadable(path, 'it has or names files that pg_dump does not write', { details: strange });
}

const FORMATS =
  'Folders of pg_dump 12 to 18 can be read. Another version: pg_restore --file=FILE.sql, then import the file.';

function isKnown(name: string): boolean {
  return name === CONTENTS || OWN_FILE.test(name.replace(COMPRESSED, ''));
}
