import { maskValues } from '../../shared/mask-values.ts';
import { scriptFailed } from '../../shared/script/script-errors.ts';
import { readScript, type ScriptStatement } from '../../shared/script/split-script.ts';
import { ConnectionLost, SqlError } from '../connection/session-errors.ts';
import { type CopyIn, openWire, type Wire } from '../connection/wire.ts';
import type { WireAddress, WireOptions } from '../connection/wire-login.ts';
import { createSplitter } from '../restore/script/split.ts';

/** Runs the statements of a file one by one, as `psql --file` does: each is a transaction unless the file begins one. */
export async function runSqlFile(
  address: WireAddress,
  { file, signal, stream }: Required<Pick<WireOptions, 'stream'>> & { file: string; signal: AbortSignal },
): Promise<void> {
  let wire: Wire | null = null;
  const abort = (): void => wire?.close();
  signal.addEventListener('abort', abort, { once: true });
  let current: ScriptStatement | null = null;
  let rows: CopyIn | null = null;
  try {
    wire = await openWire(address, { settings: {}, signal, stream });
    for await (const part of readScript(file, createSplitter({ asFile: true }))) {
      signal.throwIfAborted();
      if (part.kind === 'statement') {
        current = part;
        const text = part.bytes.toString('utf8');
        if (part.hasRows) rows = wire.copyIn(text);
        else await wire.execute(text);
        continue;
      }
      await rows?.write(part.bytes);
      if (part.isLast) {
        await rows?.end();
        rows = null;
      }
    }
    await wire.end();
  } catch (cause) {
    wire?.close();
    signal.throwIfAborted();
    // A statement may end its own session.
    if (!(cause instanceof SqlError || cause instanceof ConnectionLost)) throw cause;
    const message = maskValues(cause.message);
    throw scriptFailed(file, { statement: current, message, hint: 'Fix the statement, and rehearse again.', cause });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
