import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes a file of a folder so that after a crash it is either absent or whole. */
export async function writeDurably(folder: string, name: string, text: string): Promise<void> {
  const temporary = join(folder, `.${name}.tmp`);
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, name));
  const parent = await open(folder, 'r');
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}
