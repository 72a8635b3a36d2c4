import { testStorageFaults } from '../../contracts/storage-faults.ts';

testStorageFaults({ faults: 100, seed: 55 });
testStorageFaults({ faults: 100, seed: 56, encrypt: true });
testStorageFaults({ faults: 200, seed: 57, often: true });
testStorageFaults({ faults: 200, seed: 58, often: true, encrypt: true });
