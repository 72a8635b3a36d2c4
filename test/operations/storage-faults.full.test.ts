import { testStorageFaults } from '../contracts/storage-faults.ts';

for (const seed of [55, 56, 57, 58]) testStorageFaults({ rounds: 50, seed });
