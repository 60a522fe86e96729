import { expect, test } from 'vitest'
import { bodiesOf, reply, screen, upload, userEvent, visit } from '~/testing/page'
import { Treatment } from './Treatment'

const SIZES = {
  packet_bytes: [106, 1442],
  dscp: [0, 0],
  received_dscp: [0, null],
  sent_ns: [1, 2],
  received_ns: [5, null],
}
const CLASSES = { ...SIZES, packet_bytes: [1442, 1442], dscp: [0, 46], sent_ns: [11, 12] }
const FEW = { verdict: 'too_few_packets', evidence: '', explanation: 'Send more.', share: null }
const SMALL = {
  verdict: 'different',
  evidence: '1 % lost, 40 % lost',
  explanation: 'Keep messages small.',
  share: null,
}
const ALIKE = { verdict: 'same', evidence: 'DSCP 0: 9 % lost', explanation: 'Marks give no advantage.', share: null }

test('both bursts of a file are judged, each for its own question', async () => {
  const { sent } = await visit(<Treatment />, {
    'POST /v1/advisors/packet-treatments': ({ body }) =>
      reply(
        200,
        (body as typeof SIZES).sent_ns[0] === 1 ? { by_size: SMALL, by_class: FEW } : { by_size: FEW, by_class: ALIKE },
      ),
  })
  await upload({ trains: [] }, 'bursts.json')
  expect(await screen.findByText(/Not a file of mixed bursts/)).toBeTruthy()
  await upload({ bursts: [SIZES, CLASSES] }, 'mixed.json')
  expect(await screen.findByText('Size: treated differently')).toBeTruthy()
  expect(screen.getByText('Class: treated alike')).toBeTruthy()
  expect(screen.getByText('Keep messages small. Evidence: 1 % lost, 40 % lost.')).toBeTruthy()
  expect(screen.queryByText(/Send more/)).toBeNull()
  expect(screen.getByText('Two bursts of 2 packets of mixed.json.')).toBeTruthy()
  expect(bodiesOf(sent, 'POST /v1/advisors/packet-treatments')).toEqual([SIZES, CLASSES])
  await userEvent.click(screen.getByRole('button', { name: 'Close the file' }))
  expect(screen.queryByText('Size: treated differently')).toBeNull()
})
