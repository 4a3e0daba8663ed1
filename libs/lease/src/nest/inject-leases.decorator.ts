import { Inject } from '@nestjs/common';
import { Leases } from '../holding/leases.js';

/** Injects the {@link Leases} of `LeaseModule`, also where types are erased: `constructor(@InjectLeases() leases: Leases)`. */
export const InjectLeases = (): ParameterDecorator & PropertyDecorator => Inject(Leases);
