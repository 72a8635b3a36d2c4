import { testStorageFaults } from '../contracts/storage-faults.ts';

for (const seed of [55, 56]) testStorageFaults({ rounds: 50, seed });
for (const seed of [57, 58]) testStorageFaults({ rounds: 50, seed, encrypt: true });
