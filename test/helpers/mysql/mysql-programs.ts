import { chmod, cp, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { localRunner } from '../../../src/process/local.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { debianSid } from '../postgres/debian-tree.ts';
import { SID_PACKAGES, type TestFlavour } from './mysql-server.ts';

/** The context with the flavour's client programs on the PATH of its runner: MySQL's are those of Debian's unstable suite. */
export async function withPrograms(context: Context, flavour: TestFlavour, folder: string): Promise<Context> {
  if (flavour === 'mysql') {
    const { root } = await debianSid(SID_PACKAGES);
    for (const name of ['mysql', 'mysqldump']) {
      // Here and not in the tree: the program reads files of this machine.
      const words = [`${root}/lib64/ld-linux-x86-64.so.2`, '--library-path', `${root}/usr/lib/x86_64-linux-gnu`];
      await writeProgram(join(folder, name), `exec ${words.join(' ')} ${root}/usr/bin/${name} "$@"`);
    }
  }
  const environment = { ...context.environment, PATH: `${folder}:${context.environment.PATH}` };
  return { ...context, environment, runner: localRunner({ environment, report: context.report }) };
}

/** A program of a test's own. */
export async function writeProgram(path: string, script: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** The context with `program: true` at the target. */
export function withProgram(context: Context, target: string): Context {
  const { settings } = context.configuration;
  const targets = { ...settings.targets, [target]: { ...settings.targets[target], program: true } };
  return { ...context, configuration: { ...context.configuration, settings: { ...settings, targets } } };
}

/** The context with MySQL's server of Debian's unstable suite on the PATH, copied to where every user may start it. */
export async function withMysqlServerPrograms(context: Context, folder: string): Promise<Context> {
  const { root } = await debianSid(SID_PACKAGES);
  const parts = ['lib64/ld-linux-x86-64.so.2', 'usr/lib/x86_64-linux-gnu', 'usr/sbin/mysqld', 'usr/share/mysql'];
  for (const part of parts) {
    await cp(await realpath(join(root, part)), join(folder, part), { recursive: true, verbatimSymlinks: true });
  }
  const words = [`${folder}/lib64/ld-linux-x86-64.so.2`, '--library-path', `${folder}/usr/lib/x86_64-linux-gnu`];
  const places = `--basedir=${folder}/usr --lc-messages-dir=${folder}/usr/share/mysql`;
  await writeProgram(join(folder, 'mysqld'), `exec ${words.join(' ')} ${folder}/usr/sbin/mysqld "$@" ${places}`);
  const environment = { ...context.environment, PATH: `${folder}:${context.environment.PATH}` };
  return { ...context, environment, runner: localRunner({ environment, report: context.report }) };
}
