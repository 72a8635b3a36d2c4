import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { maxWorkers: 2, globalSetup: './reset.js', setupFiles: ['./database-url.js'] },
});
