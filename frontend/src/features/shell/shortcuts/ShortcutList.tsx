import { Kbd } from '@mantine/core'
import { Dialog } from '~/ui/Dialog'
import { strings } from '../strings'
import { SHORTCUTS } from './keys'
import styles from './shortcuts.module.css'

/** The keyboard shortcuts of the product, by where they work. */
export function ShortcutList({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Dialog title={strings.keyboardShortcuts} opened={opened} onClose={onClose}>
      {SHORTCUTS.map(({ where, shortcuts }) => (
        <section key={where} className={styles.section}>
          <h3>{where}</h3>
          <dl>
            {shortcuts.map(({ keys, does }) => (
              <div key={does}>
                <dt>{does}</dt>
                <dd>
                  {keys.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}
