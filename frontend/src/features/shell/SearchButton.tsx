import { Kbd, UnstyledButton } from '@mantine/core'
import { SearchIcon } from '~/ui/icons'
import styles from './shell.module.css'
import { PALETTE_KEYS } from './shortcuts/keys'
import { strings } from './strings'

/** Opens the command palette; shows the keys that do so where there is room. */
export function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <UnstyledButton
      className={styles.search}
      onClick={onClick}
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
    >
      <SearchIcon />
      <span className={styles.searchName}>{strings.search}</span>
      <Kbd size="xs" className={styles.searchKeys} aria-hidden="true">
        {PALETTE_KEYS.join(' ')}
      </Kbd>
    </UnstyledButton>
  )
}
