import { readFile } from 'node:fs/promises';

/**
 * An esbuild plugin that changes the listed files. The build fails when one of them could not be changed, unless it is a
 * part of the program that is bundled: it need not have all of them.
 */
export function patchPlugin(patches, { partly = false } = {}) {
  const applied = new Set();
  return {
    name: 'patches',
    setup(build) {
      for (const file of new Set(patches.map((patch) => patch.file))) {
        build.onLoad({ filter: new RegExp(`node_modules/${literally(file)}$`) }, async ({ path }) => {
          const those = patches.filter((patch) => patch.file === file);
          let contents = await readFile(path, 'utf8');
          for (const patch of those) {
            const changed = contents.replace(patch.from, patch.to);
            if (changed === contents) continue;
            contents = changed;
            applied.add(patch);
          }
          return { contents, loader: 'js' };
        });
      }
      if (partly) return;
      build.onEnd(() => ({ errors: patches.filter((patch) => !applied.has(patch)).map(notApplied) }));
    },
  };
}

function notApplied({ name, file }) {
  return { text: `The patch "${name}" no longer applies to ${file}: see .ci/bundle/patches.mjs` };
}

function literally(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
