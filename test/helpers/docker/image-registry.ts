import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ImageRegistry extends AsyncDisposable {
  /** The name under which the image can be pulled. */
  image: string;
  /** How many requests it has left without an answer. */
  waiting: () => number;
}

export interface RegistryOptions {
  /** A Debian tree to take the shell from. */
  root: string;
  /** Never says what the image is. */
  stalled?: boolean;
}

const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** What each layer holds: a shell, and what it needs to run. */
const LAYERS = [
  'bin lib lib64 usr/lib64 usr/lib/*-linux-gnu/libc.so.6 usr/lib/*-linux-gnu/ld-linux*',
  'usr/bin/sh usr/bin/dash',
];

/** A registry that serves one image of a shell. https://distribution.github.io/distribution/spec/api/ */
export async function startRegistry({ root, stalled = false }: RegistryOptions): Promise<ImageRegistry> {
  const blobs = new Map<string, Buffer>();
  const add = (content: Buffer, mediaType: string) => {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const layers = LAYERS.map((paths) => {
    const tar = execFileSync('sh', ['-c', `tar --ignore-failed-read -c ${paths}`], { cwd: root, maxBuffer: 1e8 });
    return add(tar, 'application/vnd.docker.image.rootfs.diff.tar.gzip');
  });
  const description = {
    architecture: ARCHITECTURES[process.arch],
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
  };
  const config = add(Buffer.from(JSON.stringify(description)), 'application/vnd.docker.container.image.v1+json');
  const mediaType = 'application/vnd.docker.distribution.manifest.v2+json';
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers }));

  let waiting = 0;
  const server = createServer((request, response) => {
    const [, kind, reference = ''] = /^\/v2\/shell\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? [];
    if (stalled && kind === 'manifests') {
      waiting += 1;
      return;
    }
    const content = kind === 'manifests' ? manifest : (blobs.get(reference) ?? Buffer.from('{}'));
    response.writeHead(200, {
      'Content-Type': kind === 'manifests' ? mediaType : 'application/octet-stream',
      'Content-Length': content.length,
    });
    response.end(request.method === 'HEAD' ? undefined : content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    image: `127.0.0.1:${(server.address() as AddressInfo).port}/shell:1`,
    waiting: () => waiting,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
