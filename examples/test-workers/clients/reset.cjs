// In a file of setupFiles of Jest:
// process.env.DATABASE_URL = process.env[`DATABASE_URL_${process.env.JEST_WORKER_ID}`];
// In a file of setupFilesAfterEnv of Jest: beforeEach(() => reset(process.env.JEST_WORKER_ID)), after
// `tool branch serve shop test --yes --json > .reset.json &`.
const { readFileSync } = require('node:fs');
const { request } = require('node:http');

exports.reset = (worker, file = '.reset.json') =>
  new Promise((resolve, reject) => {
    const { socket: socketPath } = JSON.parse(readFileSync(file, 'utf8').split('\n')[0]);
    const sent = request({ socketPath, path: `/reset/${worker}`, method: 'POST' }, (response) => {
      let body = '';
      response.on('data', (part) => (body += part));
      response.on('end', () => (response.statusCode === 200 ? resolve(JSON.parse(body)) : reject(new Error(body))));
    });
    sent.on('error', reject).end();
  });
