import { createFileRoute } from '@tanstack/react-router'
import * as v from 'valibot'
import { DevicePage } from '~/features/account/DevicePage'
import { strings } from '~/features/shell/strings'
import { searchParser } from '~/lib/searchParams'

export const Route = createFileRoute('/_app/device')({
  staticData: { title: strings.connectDevice, help: 'api/README#signing-in' },
  validateSearch: searchParser<{ code?: string }>({ code: v.pipe(v.string(), v.regex(/^[A-Za-z -]{8,20}$/)) }),
  component: Device,
})

function Device() {
  const { code } = Route.useSearch()
  const navigate = Route.useNavigate()
  return (
    <DevicePage
      key={code}
      code={code}
      onCode={(next) => void navigate({ search: next === undefined ? {} : { code: next }, replace: true })}
    />
  )
}
