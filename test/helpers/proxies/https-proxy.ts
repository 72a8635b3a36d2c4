import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A proxy that speaks TLS with a certificate of its own, as one in front of a hub does. */
export interface HttpsProxy {
  url: string;
  /** Where it forwards to. */
  forwardTo(url: string): void;
  stop(): Promise<void>;
}

export async function startHttpsProxy(): Promise<HttpsProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'tool-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', [...words, '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert]);
  let target = '';
  const server = createServer({ key: await readFile(key), cert: await readFile(cert) }, (incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': incoming.socket.remoteAddress };
    const forwarded = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.rawHeaders);
        response.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await rm(folder, { recursive: true });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwardTo: (url) => {
      target = url;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
