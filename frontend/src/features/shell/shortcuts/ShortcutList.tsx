import { Kbd, Switch } from '@mantine/core'
import { Dialog } from '~/ui/Dialog'
import { strings } from '../strings'
import { PALETTE_KEYS, SHORTCUTS } from './keys'
import styles from './shortcuts.module.css'
import { useSingleKeys } from './useSingleKeys'

/** The keyboard shortcuts of the product, by where they work. */
export function ShortcutList({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [singleKeys, setSingleKeys] = useSingleKeys()
  return (
    <Dialog title={strings.keyboardShortcuts} opened={opened} onClose={onClose}>
      <Switch
        label={strings.singleKeys}
        aria-label={strings.singleKeys}
        description={strings.singleKeysHint(PALETTE_KEYS.join('-'))}
        checked={singleKeys}
        onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
      />
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
