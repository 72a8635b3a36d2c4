import { parentPort, workerData } from 'node:worker_threads';
import { summarise } from './summarise.ts';

parentPort?.postMessage(summarise(workerData));
