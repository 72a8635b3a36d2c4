import { parentPort, workerData } from 'node:worker_threads';
import { type ManifestKind, SUMMARIES } from './summarise.ts';

const { kind, text }: { kind: ManifestKind; text: string } = workerData;
parentPort?.postMessage(SUMMARIES[kind](text));
