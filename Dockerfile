# sojourn in a container. NOT RUN by its authors: the machine it was written on has no container engine. hadolint finds nothing. See docs/howto/install.md.
#
#     docker build -t sojourn .
#     mkdir -p runs
#     docker run --rm --network host --user "$(id -u)" -v "$PWD/runs:/runs" sojourn capacity http://127.0.0.1:8080/ --objective 'p99 < 50ms' --out /runs/first

FROM rust:1-slim-bookworm AS build
# No versions: the tag of the image moves with Debian, and with it the only ones that there are.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-pip && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps . -w /dist

FROM python:3.13-slim-bookworm
COPY --from=build /dist /dist
RUN pip install --no-cache-dir /dist/sojourn-*.whl && useradd --create-home --uid 1000 sojourn && mkdir /runs && chown sojourn /runs
USER 1000
WORKDIR /runs
ENTRYPOINT ["sojourn"]
CMD ["--help"]
