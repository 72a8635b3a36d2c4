import { readFile } from 'node:fs/promises';

/** Returns the text of an example file of examples/working-trees, with the server and the user of a URL. */
export async function exampleEnvironment(file: string, url: string): Promise<string> {
  const { username, password, hostname, port } = new URL(url);
  return (await readFile(file, 'utf8'))
    .replace('shop:secret@', `${username}${password && `:${password}`}@`)
    .replace('localhost:5432', `${hostname}:${port}`)
    .replace(/(HOST=|host: )localhost/, `$1${hostname}`)
    .replace(/(PORT=|port: )5432/, `$1${port}`)
    .replace(/(USERNAME=|username: )shop/, `$1${username}`)
    .replace(/(PASSWORD=|password: )secret/, `$1${password}`);
}
