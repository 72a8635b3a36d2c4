import { connect, createServer, type Socket } from 'node:net';
import type { ServerKind } from '../databases/any-server.ts';

/** The server refuses the statement; or the connection closes before it arrives, or before its answer does. */
export const FAULTS = ['refused', 'lost', 'unanswered'] as const;
export type Fault = (typeof FAULTS)[number];
/** Done while the statement waits. */
export type Act = () => Promise<void>;

/** A proxy before a database server that spoils one statement. */
export interface StatementProxy {
  port: number;
  /** Begins to count the statements of all connections; without `at`, none is spoiled. */
  arm(fault: Fault | Act, at?: number | ((statement: string) => boolean)): void;
  /** Called when the server has answered a statement whose answer is withheld. */
  onWithheld: (() => void) | null;
  /** Returns how many statements passed since `arm`, and the spoiled one. */
  disarm(): { statements: number; spoiled: string | null };
  stop(): Promise<void>;
}

/** Reads the messages of a client. */
interface Client {
  /** Takes a piece; returns the bytes for the server, or where the connection ends. */
  read(piece: Buffer, spoil: (text: string) => Fault | null): { send: Buffer[]; fault: Fault | null };
  /** Takes a piece of the server; returns how many of its bytes come before the answer that is withheld. */
  bytesBeforeWithheld(piece: Buffer): number;
}

export async function startStatementProxy(kind: ServerKind, port: number): Promise<StatementProxy> {
  const sockets = new Set<Socket>();
  let [count, spoiled]: [number, string | null] = [0, null];
  let at: number | ((statement: string) => boolean) | null = null;
  let fault: Fault | Act = 'refused';
  let held: Promise<void> | null = null;
  const spoil = (text: string): Fault | null => {
    count += 1;
    if (typeof at === 'function' ? spoiled !== null || !at(text) : count !== at) return null;
    spoiled = text.slice(0, 300);
    if (typeof fault === 'function') {
      held = fault();
      return null;
    }
    return fault === 'refused' && /^\s*(?:COMMIT|ROLLBACK|END|ABORT|UNLOCK)\b/i.test(text) ? 'lost' : fault;
  };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const client = kind === 'postgres' ? postgresClient() : mysqlClient();
    const close = (): void => {
      for (const socket of [near, far]) socket.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', close).on('close', () => {
        sockets.delete(socket);
        close();
      });
    }
    near.on('end', () => far.end());
    far.on('end', () => near.end());
    near.on('data', async (piece: Buffer) => {
      const { send, fault: found } = client.read(piece, spoil);
      if (held) {
        near.pause();
        await held;
        held = null;
        near.resume();
      }
      if (found === 'lost') return close();
      for (const bytes of send) far.write(bytes);
    });
    far.on('data', (piece: Buffer) => {
      const passed = client.bytesBeforeWithheld(piece);
      near.write(piece.subarray(0, passed));
      if (passed === piece.length) return;
      proxy.onWithheld?.();
      close();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const proxy: StatementProxy = {
    onWithheld: null,
    port: typeof address === 'object' && address ? address.port : 0,
    arm(next, statement) {
      [count, spoiled] = [0, null];
      at = statement ?? null;
      fault = next;
    },
    disarm() {
      at = null;
      return { statements: count, spoiled };
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}

const REFUSED_BY_POSTGRES = "DO $$BEGIN RAISE EXCEPTION 'a fault of the test' USING ERRCODE = '53400'; END$$";
const REFUSED_BY_MYSQL = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1105, MESSAGE_TEXT = 'a fault of the test'";

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
function postgresClient(): Client {
  let rest: Buffer = Buffer.alloc(0);
  let isStarted = false;
  // Statements are sent at once: while one is on its way, the server still answers others.
  let [sent, withheldAfter] = [1, Number.POSITIVE_INFINITY];
  const answers = createAnswerCounter();
  return {
    bytesBeforeWithheld: (piece) => (isStarted ? answers.take(piece, withheldAfter) : piece.length),
    read(piece, spoil) {
      rest = Buffer.concat([rest, piece]);
      const send: Buffer[] = [];
      while (true) {
        const head = isStarted ? 1 : 0;
        if (rest.length < head + 4) return { send, fault: null };
        const length = head + rest.readUInt32BE(head);
        if (rest.length < length) return { send, fault: null };
        const message = rest.subarray(0, length);
        rest = rest.subarray(length);
        const isQuery = isStarted && message[0] === 'Q'.charCodeAt(0);
        // Requests for TLS, GSS and cancellation have numbers above those of versions.
        if (!isStarted) isStarted = message.readUInt32BE(4) < 0x04d2_0000;
        const fault = isQuery ? spoil(message.toString('utf8', 5, length - 1)) : null;
        if (fault === 'lost') return { send, fault };
        send.push(fault === 'refused' ? postgresQuery(REFUSED_BY_POSTGRES) : message);
        if (fault === 'unanswered') {
          withheldAfter = sent;
          return { send, fault };
        }
        if (isStarted && 'QS'.includes(String.fromCharCode(message[0] ?? 0))) sent += 1;
      }
    },
  };
}

/** Counts the messages that end an answer; the first ends the login. */
function createAnswerCounter(): { take(piece: Buffer, atMost: number): number } {
  const head = Buffer.alloc(5);
  let [headBytes, bodyBytes, ended] = [0, 0, 0];
  return {
    take(piece, atMost) {
      for (let at = 0; at < piece.length; ) {
        if (ended >= atMost) return at;
        if (bodyBytes === 0) {
          head[headBytes++] = piece[at++] ?? 0;
          if (headBytes < head.length) continue;
          bodyBytes = head.readUInt32BE(1) - 4;
          headBytes = 0;
        }
        const skipped = Math.min(bodyBytes, piece.length - at);
        [at, bodyBytes] = [at + skipped, bodyBytes - skipped];
        if (bodyBytes === 0 && head[0] === 'Z'.charCodeAt(0)) ended += 1;
      }
      return piece.length;
    },
  };
}

function postgresQuery(text: string): Buffer {
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.from('Q\0\0\0\0');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const COM_QUERY = 3;
/** Before the text of a query, where client and server can exchange attributes. */
const NO_ATTRIBUTES = '\0\x01';

/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query.html; statements of one packet count each. */
function mysqlClient(): Client {
  let rest: Buffer = Buffer.alloc(0);
  let isWithheld = false;
  return {
    bytesBeforeWithheld: (piece) => (isWithheld ? 0 : piece.length),
    read(piece, spoil) {
      rest = Buffer.concat([rest, piece]);
      const send: Buffer[] = [];
      while (true) {
        if (rest.length < 4) return { send, fault: null };
        const length = 4 + rest.readUIntLE(0, 3);
        if (rest.length < length) return { send, fault: null };
        const packet = rest.subarray(0, length);
        rest = rest.subarray(length);
        const isQuery = packet[3] === 0 && packet[4] === COM_QUERY;
        const statements = isQuery ? packet.toString('latin1', 5).split('\n;\n') : [];
        const faults = statements.map((statement) => spoil(statement));
        const at = faults.findIndex((fault) => fault !== null);
        const fault = faults[at] ?? null;
        if (fault === 'lost') return { send, fault };
        const attributes = statements[at]?.startsWith(NO_ATTRIBUTES) ? NO_ATTRIBUTES : '';
        send.push(fault === 'refused' ? mysqlQuery(statements.with(at, attributes + REFUSED_BY_MYSQL)) : packet);
        if (fault === 'unanswered') {
          isWithheld = true;
          return { send, fault };
        }
      }
    },
  };
}

function mysqlQuery(statements: string[]): Buffer {
  const body = Buffer.from(`\x03${statements.join('\n;\n')}`, 'latin1');
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  return Buffer.concat([head, body]);
}
