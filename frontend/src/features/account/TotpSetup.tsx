import { TextInput } from '@mantine/core'
import { useConfirmTotp } from '~/api/account'
import type { TotpSetup as Setup } from '~/api/types'
import { Problem } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { CopyText } from '~/ui/CopyText'
import { pageStyles } from '~/ui/Page'
import styles from './account.module.css'
import { strings } from './strings'

/** The secret of an authenticator app, and the field for its first code. `onDone` receives new recovery codes. */
export function TotpSetup({ setup, onDone }: { setup: Setup; onDone: (codes: string[] | null) => void }) {
  const confirm = useConfirmTotp()
  const field = confirm.error instanceof Problem ? confirm.error.field('code') : undefined

  function submit(form: FormData) {
    const code = String(form.get('code')).trim()
    confirm.mutate(code, { onSuccess: ({ recovery_codes }) => onDone(recovery_codes) })
  }

  return (
    <div className={styles.setup}>
      <img
        className={styles.qrCode}
        src={`data:image/svg+xml,${encodeURIComponent(setup.qr_code)}`}
        alt={strings.qrCode}
      />
      <div className={pageStyles.stack}>
        <p className={pageStyles.lead}>{strings.scan}</p>
        <CopyText text={setup.secret} label={strings.secret} />
        <ActionForm onSubmit={submit} doing={confirm} action={strings.confirmApp}>
          <TextInput
            name="code"
            label={strings.code}
            autoComplete="one-time-code"
            inputMode="numeric"
            minLength={6}
            required
            withAsterisk={false}
            error={field}
            w={160}
          />
        </ActionForm>
      </div>
    </div>
  )
}
