import { testStorageFaults } from '../contracts/storage-faults.ts';

testStorageFaults({ rounds: 200, seed: 55 });
