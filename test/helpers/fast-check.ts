import fc from 'fast-check';

/** The same cases in each run of `npm test`, so that a red test is the change's doing; new ones in `npm run test:full`. */
if (process.env.TEST_FULL !== '1') fc.configureGlobal({ seed: 20261122 });

export { fc };
