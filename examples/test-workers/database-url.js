import { loadEnvFile } from 'node:process';
import { beforeEach } from 'vitest';
import { reset } from './reset.js';

// Vitest numbers its workers from 1 to maxWorkers.
const worker = process.env.VITEST_POOL_ID;
loadEnvFile('.env.test');
process.env.DATABASE_URL = process.env[`DATABASE_URL_${worker}`];
beforeEach(() => reset(worker));
