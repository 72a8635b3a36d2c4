import { testStorageFaults } from '../../contracts/storage-faults.ts';

testStorageFaults({ faults: 2, seed: 5 });
testStorageFaults({ faults: 20, seed: 6, often: true });
