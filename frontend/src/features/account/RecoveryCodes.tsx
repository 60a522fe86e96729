import { Button } from '@mantine/core'
import { CopyButton } from '~/ui/CopyButton'
import { Notice } from '~/ui/State'
import styles from './account.module.css'
import { strings } from './strings'

/** New recovery codes, shown until the person has kept them. */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  return (
    <>
      <Notice tone="warn" title={strings.recoveryCodes}>
        {strings.keepCodes}
      </Notice>
      <ul className={styles.codes} aria-label={strings.recoveryCodes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className={styles.row}>
        <CopyButton text={() => codes.join('\n')} size="sm" />
        <Button size="sm" onClick={onKept}>
          {strings.codesKept}
        </Button>
      </div>
    </>
  )
}
