import { loadEnvFile } from 'node:process';

// Vitest numbers its workers from 1 to maxWorkers.
loadEnvFile('.env.test');
process.env.DATABASE_URL = process.env[`DATABASE_URL_${process.env.VITEST_POOL_ID}`];
