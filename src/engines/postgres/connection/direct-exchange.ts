import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { directAddress } from './direct-address.ts';
import { type Exchange, reported } from './exchange.ts';
import { assertNoNul, quoteText } from './quote.ts';
import { ConnectionLost } from './session-errors.ts';
import type { SessionSettings } from './url.ts';
import type { Wire } from './wire.ts';

/**
 * Sends statements over a connection of our own: psql takes longer to start than most sessions last. `null` where only
 * libpq can connect or tells why not.
 */
export async function startDirect(
  context: Pick<EngineContext, 'runner' | 'environment' | 'report' | 'signal'>,
  { url, settings: { client_encoding, ...settings } }: { url: DatabaseUrl; settings: SessionSettings },
): Promise<Exchange | null> {
  const { report, signal } = context;
  const address = await directAddress(context, url);
  if (!address) return null;
  const { openWire } = await import('./wire.ts');
  const wire = await openWire(address, { settings, signal }).catch((error) => {
    signal.throwIfAborted();
    // libpq then tries TLS.
    const mayContinue = url.parameters.sslmode === 'allow';
    if (error instanceof ConnectionLost && (mayContinue || !error.isFinal)) return null;
    throw error;
  });
  if (!wire) return null;
  const abort = (): void => wire.close(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  if (client_encoding !== undefined) {
    await wire.execute(`SET client_encoding = ${quoteText(client_encoding)}`).catch((error) => {
      wire.close();
      throw error;
    });
  }
  return {
    send: reported((statement, options = {}) => answer(wire, statement, options.take), report),
    async close() {
      await wire.end();
      signal.removeEventListener('abort', abort);
    },
  };
}

async function answer(wire: Wire, statement: string, take: ((lines: Buffer) => void) | undefined): Promise<string> {
  assertNoNul(statement);
  if (!take) return (await wire.query(statement)).join('\n');
  const lines = createLines(take);
  await wire.copyOut(statement, lines.add);
  lines.end();
  return '';
}

const BLOCK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** Collects rows, which come alone and in pieces. */
function createLines(take: (lines: Buffer) => void): {
  add: (buffer: Buffer, from: number, to: number) => void;
  end: () => void;
} {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let size = 0;
  const pass = (): void => {
    const whole = block.subarray(0, size).lastIndexOf(LINE_FEED) + 1;
    if (whole === 0) return;
    take(block.subarray(0, whole));
    block.copyWithin(0, whole, size);
    size -= whole;
  };
  return {
    add(buffer, from, to) {
      if (size + to - from > block.length) pass();
      if (size + to - from > block.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * block.length, size + to - from));
        block.copy(larger, 0, 0, size);
        block = larger;
      }
      size += buffer.copy(block, size, from, to);
    },
    end: pass,
  };
}
