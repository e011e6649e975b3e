# Builds gramc into a small image without a shell: `docker build --tag gramc .`, then
# `docker run --rm --volume "$PWD:/work" gramc check`.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /gramc
COPY . .
RUN cargo build --locked --profile dist --package gramc

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /gramc/target/dist/gramc /usr/local/bin/gramc
WORKDIR /work
ENTRYPOINT ["gramc"]
