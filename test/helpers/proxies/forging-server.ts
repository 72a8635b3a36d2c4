import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ForgingServer extends AsyncDisposable {
  /** The URL of a database of the real server, by way of this one. */
  through(url: string): string;
}

/** Changes a value of one column, or a line of COPY, that the real server sends. */
export type Forge = (text: string) => string;

const DATA_ROW = 'D';
const COPY_DATA = 'd';
const HEAD_BYTES = 5;

/** A PostgreSQL server that lies: it passes everything on to a real one, and forges what that one answers. */
export async function startForgingServer(port: number, forge: Forge): Promise<ForgingServer> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const real = connect(port, '127.0.0.1');
    for (const socket of [client, real]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          client.destroy();
          real.destroy();
        });
    }
    client.pipe(real);
    let rest = Buffer.alloc(0);
    real.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= HEAD_BYTES && rest.length >= 1 + rest.readUInt32BE(1)) {
        const end = 1 + rest.readUInt32BE(1);
        client.write(forged(rest.subarray(0, end), forge));
        rest = rest.subarray(end);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    through(url) {
      const other = new URL(url);
      other.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      other.search = 'sslmode=disable&gssencmode=disable';
      return other.href;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function forged(message: Buffer, forge: Forge): Buffer {
  const type = String.fromCharCode(message[0] ?? 0);
  if (type === COPY_DATA) return framed(type, Buffer.from(forge(message.toString('latin1', HEAD_BYTES)), 'latin1'));
  if (type !== DATA_ROW || message.readUInt16BE(HEAD_BYTES) !== 1 || message.readInt32BE(HEAD_BYTES + 2) < 0)
    return message;
  const value = Buffer.from(forge(message.toString('utf8', HEAD_BYTES + 6)));
  const head = Buffer.alloc(6);
  head.writeUInt16BE(1);
  head.writeInt32BE(value.length, 2);
  return framed(type, Buffer.concat([head, value]));
}

function framed(type: string, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(type, 'latin1');
  head.writeUInt32BE(4 + payload.length, 1);
  return Buffer.concat([head, payload]);
}
