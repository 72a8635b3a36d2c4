import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';

export interface Answer {
  status: number;
  etag: string | null;
  milliseconds: number;
  /** Of an answer that is no success. */
  text: string;
}

interface Sending {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string;
}

/** One request and its time, to the last byte of the answer. */
export function sendTo(agent: Agent, { method, url, headers = {}, body }: Sending): Promise<Answer> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      const status = response.statusCode ?? 0;
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => void (status >= 300 && pieces.push(piece)));
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        resolve({ status, etag: response.headers.etag ?? null, milliseconds: performance.now() - started, text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** As a worker: asks for `/healthz`, one request at a time, from its first message on until a message; posts the times. */
async function probe({ url }: { url: string }): Promise<void> {
  const times: number[] = [];
  const agent = new Agent({ keepAlive: true });
  let ending = false;
  parentPort?.once('message', () => {
    ending = true;
  });
  await sendTo(agent, { method: 'GET', url: `${url}/healthz` });
  parentPort?.postMessage('started');
  while (!ending) {
    times.push((await sendTo(agent, { method: 'GET', url: `${url}/healthz` })).milliseconds);
    await wait(5);
  }
  agent.destroy();
  parentPort?.postMessage(times);
}

if (!isMainThread && parentPort) await probe(workerData);
