import type { Writable } from 'node:stream';
import { redact } from '../../../process/redact.ts';
import type { RunningProcess } from '../../../process/runner.ts';
import { releaseChunk } from '../../../snapshots/objects/release.ts';
import type { DatabaseUrl, EngineContext } from '../../engine.ts';
import { PSQL_FLAGS, quoteText } from '../connection/session.ts';
import { connectionOf, type Settings } from '../connection/url.ts';
import { COPY_FLAGS } from '../restore/load-tables.ts';
import { restoreFailed } from '../restore/restore-failed.ts';
import { type OpenSource, READING_SETTINGS } from './reading.ts';

export interface Pipe {
  source: OpenSource;
  /** Of the new database, and of the session that writes into it. */
  url: DatabaseUrl;
  settings: Settings;
  /** What fails, when it does: `The rows of the subset`. */
  what: string;
  /** Statements and commands of psql; what they put out is the script of the other psql. */
  ask: () => Iterable<string>;
  onChunk: (chunk: Uint8Array) => void;
}

const COPY_SETTINGS = {
  search_path: 'pg_catalog',
  row_security: 'off',
  xmloption: 'content',
  client_min_messages: 'warning',
};

/**
 * One psql reads in the source's instant, and what it says is the script of another that writes, in one transaction: so
 * nothing is kept here. The result is what the other says.
 */
export async function pipeScript(
  context: EngineContext,
  { source, url, settings, what, ask, onChunk }: Pipe,
): Promise<string> {
  const { runner, signal } = context;
  const psql = source.tools.psql;
  const from = connectionOf(source.url, { ...COPY_SETTINGS, ...READING_SETTINGS });
  const to = connectionOf(url, { ...COPY_SETTINGS, ...settings });
  const reader = runner.start(
    { file: psql, args: [...PSQL_FLAGS, ...COPY_FLAGS, ...from.args], env: from.env, mounts: from.mounts },
    { signal },
  );
  const flags = [...PSQL_FLAGS.filter((flag) => flag !== '--quiet'), '--single-transaction', ...COPY_FLAGS];
  const writer = runner.start({ file: psql, args: [...flags, ...to.args], env: to.env, mounts: to.mounts }, { signal });
  let said = '';
  writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const [, passed, read, written] = await Promise.allSettled([
    tell(reader.stdin, { snapshot: source.snapshot, ask }),
    pass(reader, { writer, onChunk }),
    reader.ended,
    writer.ended,
  ]);
  signal.throwIfAborted();
  for (const [side, ended] of Object.entries({ read, written })) {
    if (ended.status === 'rejected') throw ended.reason;
    const { exitCode, stderr } = ended.value;
    if (exitCode === 0 || exitCode === null) continue;
    throw restoreFailed(`${what} could not be ${side}`, redact(stderr).trim().split('\n').slice(0, 20));
  }
  if (passed.status === 'rejected') throw passed.reason;
  return said;
}

/** A command of psql that puts the text out. */
export function echo(text: string): string {
  return `\\echo '${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'\n`;
}

async function tell(stdin: Writable, { snapshot, ask }: { snapshot: string; ask: Pipe['ask'] }): Promise<void> {
  stdin.on('error', () => {});
  await write(stdin, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;\n');
  await write(stdin, `SET TRANSACTION SNAPSHOT ${quoteText(snapshot)};\n`);
  for (const text of ask()) await write(stdin, text);
  stdin.end('COMMIT;\n');
}

interface Passing {
  writer: RunningProcess;
  onChunk: Pipe['onChunk'];
}

/** When the reader does not end well the writer is ended: an end of its input would be taken for the end of the rows. */
async function pass(reader: RunningProcess, { writer, onChunk }: Passing): Promise<void> {
  const { stdout } = reader;
  writer.stdin.on('error', () => reader.kill());
  try {
    await new Promise<void>((resolve, reject) => {
      stdout.on('data', (chunk: Buffer<ArrayBuffer>) => {
        onChunk(chunk);
        stdout.pause();
        const passOn = (): void => {
          releaseChunk(chunk);
          stdout.resume();
        };
        write(writer.stdin, chunk).then(passOn, reject);
      });
      stdout.once('end', resolve).once('close', resolve).once('error', reject);
    });
    const { exitCode } = await reader.ended;
    if (exitCode !== 0) throw new Error('the reader did not end well');
    writer.stdin.end();
  } catch (error) {
    writer.kill();
    throw error;
  }
}

function write(input: Writable, content: Uint8Array | string): Promise<void> {
  return new Promise((resolve, reject) => {
    input.write(content, (error) => (error ? reject(error) : resolve()));
  });
}
