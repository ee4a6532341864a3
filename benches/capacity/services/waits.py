"""asyncio: four requests at a time wait for something behind, exponentially, 12 ms on average."""

import asyncio
import random
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def main() -> None:
    free = asyncio.Semaphore(4)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            while (await reader.readline()).strip():
                pass
            async with free:
                await asyncio.sleep(random.expovariate(1 / 0.012))
            writer.write(ANSWER)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=512) as server:
        await server.serve_forever()


asyncio.run(main())
