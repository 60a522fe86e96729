import { Anchor, Button, Checkbox, Group, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type PlanFormat, planQuery } from '~/api/recommendations'
import { Choice } from '~/ui/Choice'
import { CopyButton } from '~/ui/CopyButton'
import { Dialog } from '~/ui/Dialog'
import { QueryResult } from '~/ui/QueryResult'
import styles from './recommendations.module.css'
import { strings } from './strings'

const FILES: Record<PlanFormat, string> = {
  kubernetes: 'yaml',
  'network-topology': 'yaml',
  terraform: 'tfvars',
  systemd: 'sh',
}

/** The moves as text, to copy or to download. */
export function CarryOut({ recommendationId }: { recommendationId: string }) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {strings.carryOut}
      </Button>
      <Dialog title={strings.carryOutTitle} opened={opened} onClose={() => setOpened(false)}>
        <Plan recommendationId={recommendationId} />
      </Dialog>
    </>
  )
}

function Plan({ recommendationId }: { recommendationId: string }) {
  const [format, setFormat] = useState<PlanFormat>('kubernetes')
  const [isBack, setBack] = useState(false)
  const plan = useQuery(planQuery(recommendationId, format, isBack))
  const name = `moves-${recommendationId.slice(0, 8)}${isBack ? '-back' : ''}.${FILES[format]}`
  return (
    <div className={styles.plan}>
      <p>{strings.carryOutLead}</p>
      <Choice
        label={strings.format}
        data={strings.planFormats}
        value={format}
        onChange={(value: PlanFormat) => setFormat(value)}
      />
      <Checkbox label={strings.wayBack} checked={isBack} onChange={(event) => setBack(event.currentTarget.checked)} />
      <QueryResult query={plan} what={strings.planLower}>
        {(text) => (
          <>
            <Textarea
              label={strings.planText}
              classNames={{ input: styles.planText ?? '' }}
              value={text}
              wrap="off"
              rows={18}
              readOnly
            />
            <Group justify="end" mt="xs">
              <Anchor size="sm" href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`} download={name}>
                {strings.downloadPlan(name)}
              </Anchor>
              <CopyButton text={() => text} />
            </Group>
          </>
        )}
      </QueryResult>
    </div>
  )
}
